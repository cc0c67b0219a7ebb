"""What is a secret: by a file's name, by its content, and how a text is shown without it."""
