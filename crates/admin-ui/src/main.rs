//! Starts the console in the page.

fn main() {
    tollgate_admin_ui::start();
}
