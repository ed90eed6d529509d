//! Orders, neighbors and places on the Earth.

mod cases;
mod chordal;
mod ordering;
mod prediction;
mod previous;
mod reference;
