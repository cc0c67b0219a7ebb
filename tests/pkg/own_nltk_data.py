"""Give this environment its own copy of LlamaIndex's nltk data: nltk refuses files with hard links."""

import shutil
import sysconfig
from pathlib import Path

DATA = Path(sysconfig.get_path("purelib"), "llama_index", "core", "_static")

for file in DATA.rglob("*"):
    if file.is_file() and file.stat().st_nlink > 1:
        copy = file.with_name(f"{file.name}.copy")
        shutil.copy2(file, copy)
        copy.replace(file)
