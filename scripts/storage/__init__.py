"""The ground floor: files, schemas, tables, errors, numbers."""
