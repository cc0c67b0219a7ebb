"""The kit for settings: components, sections, YAML with line numbers, and suggestions for typos."""

from ragloom.config.component import Component, located
from ragloom.config.options import build, user_path
from ragloom.config.sections import read_sections, section_variables
from ragloom.config.settings import CONFIG_NAME, Settings, SpaceSettings
from ragloom.config.spelling import counted, did_you_mean, nearest, unknown
from ragloom.config.user_folders import user_folder
from ragloom.config.yaml_file import YamlFile, compose, is_settings_file, read_yaml

__all__ = [
    "CONFIG_NAME",
    "Component",
    "Settings",
    "SpaceSettings",
    "YamlFile",
    "build",
    "compose",
    "counted",
    "did_you_mean",
    "is_settings_file",
    "located",
    "nearest",
    "read_sections",
    "read_yaml",
    "section_variables",
    "unknown",
    "user_folder",
    "user_path",
]
