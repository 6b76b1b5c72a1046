//! Tests of the shapes that cross a boundary.

mod events;
