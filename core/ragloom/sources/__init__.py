"""The files of a space: discovery, ignore rules, secrets, and loading."""
