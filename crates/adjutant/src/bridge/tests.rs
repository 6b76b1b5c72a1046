//! The bridge against a small server of either era.
