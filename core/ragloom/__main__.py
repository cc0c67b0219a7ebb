"""``python -m ragloom`` is the command ``ragloom``."""

from ragloom.cli import main

if __name__ == "__main__":
    main()
