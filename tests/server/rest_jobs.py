"""What tests of the routes of jobs send."""

from tests import work

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebook(*sources):
    """A notebook of these cells, for the kernel that is here."""
    return work.notebook(*sources, kernelspec=KERNEL)
