"""Tandem's models as other frameworks ask for embeddings: `langchain` and `llama_index`, imported where they are used."""
