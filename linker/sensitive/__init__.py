"""Pure: which words speak of medicine, law or money, and where they stand in a title or an address."""
