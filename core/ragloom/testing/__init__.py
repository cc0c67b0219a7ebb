"""What the authors of plugins need for their tests. Public, and kept stable.

``fakes`` holds parts without a model or a disk; ``fixtures`` is a pytest plugin. In a conftest.py::

    pytest_plugins = ["ragloom.testing.fixtures"]

``pip install 'ragloom[testing]'`` brings pytest and hypothesis.
"""
