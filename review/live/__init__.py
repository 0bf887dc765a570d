"""The life of links after their release: looked for in each import of links, listed, and seen to."""
