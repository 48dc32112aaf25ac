"""What a pull request is told of the knowledge in it: annotations and a summary."""
