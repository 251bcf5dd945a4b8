//! The parts that pages are made of. Each takes plain values and tells what was wanted by callbacks; none calls the API.

pub mod badge;
pub mod copy;
pub mod crumbs;
pub mod dialog;
pub mod equation;
pub mod field;
pub mod figure;
pub mod gate;
pub mod icon;
pub mod language_switch;
pub mod legend;
pub mod navigation;
pub mod notice;
pub mod pager;
pub mod segmented;
pub mod snippets;
pub mod sort_head;
pub mod spent_bar;
pub mod states;
pub mod swatch;
pub mod theme_switch;
pub mod toasts;
pub mod topbar;
pub mod written;
