//! The generated block of `docs/explanation/scale.md`.

use std::fmt::Write as _;

use super::fleet::{Fleet, Need, use_of_one_home};
use super::measured::{self, Given};
use super::takeovers::{Outages, Standby, Year, year};
use super::{SCALES, assumed};

/// A row of a table: its name, and a cell for each scale.
type Row = (String, [String; SCALES.len()]);

/// Makes the block.
pub(super) fn block(seed: u64) -> String {
    let fleets = SCALES.map(Fleet::of);
    let parts = [
        "## What so many agents need\n".to_owned(),
        table(&heads(&fleets), &needs(&fleets)),
        format!(
            "At its peak such a home does {} % of what one home can do.\n",
            amount(use_of_one_home() * 100.0)
        ),
        "## Which resource decides\n".to_owned(),
        "Machines that each resource would need by itself; the largest number decides.\n"
            .to_owned(),
        table(
            &heads(&fleets),
            &[
                resources("PostgreSQL", &fleets, |fleet| &fleet.postgres_needs),
                resources("servers", &fleets, |fleet| &fleet.server_needs),
            ]
            .concat(),
        ),
        "## A year of failures\n".to_owned(),
        "With a second server that follows each home:\n".to_owned(),
        table(&heads(&fleets), &outages(&fleets, Standby::Following, seed)),
        "With homes that are restored from their snapshot by the server that takes them:\n"
            .to_owned(),
        table(&heads(&fleets), &outages(&fleets, Standby::Cold, seed)),
        "## Measured\n".to_owned(),
        givens(&measured::ALL),
        "## Assumed\n".to_owned(),
        givens(&assumed::ALL),
    ];
    parts.join("\n")
}

fn heads(fleets: &[Fleet; SCALES.len()]) -> Vec<String> {
    let mut heads = vec![String::new()];
    heads.extend(fleets.iter().map(|fleet| format!("{} agents", amount(fleet.agents))));
    heads
}

fn row(name: &str, fleets: &[Fleet; SCALES.len()], cell: impl FnMut(&Fleet) -> String) -> Row {
    (name.to_owned(), fleets.each_ref().map(cell))
}

fn needs(fleets: &[Fleet; SCALES.len()]) -> Vec<Row> {
    vec![
        row("homes", fleets, |fleet| amount(fleet.homes)),
        row("calls a second, on average", fleets, |fleet| amount(fleet.calls)),
        row("commits a second, at the peak", fleets, |fleet| amount(fleet.commits)),
        row("log of a day", fleets, |fleet| bytes(fleet.log_of_day)),
        row("PostgreSQL instances, each with a standby", fleets, |fleet| amount(fleet.postgres())),
        row("servers", fleets, |fleet| amount(fleet.servers())),
        row("homes of a server", fleets, |fleet| amount((fleet.homes / fleet.servers()).ceil())),
        row("homes of a PostgreSQL", fleets, |fleet| {
            amount((fleet.homes / fleet.postgres()).ceil())
        }),
    ]
}

/// Machines that each resource needs, the hungriest first.
fn resources(
    machines: &str,
    fleets: &[Fleet; SCALES.len()],
    needs: fn(&Fleet) -> &Vec<Need>,
) -> Vec<Row> {
    let names = fleets.first().map(needs).into_iter().flatten().map(|need| need.resource);
    let row_of = |resource: &str| {
        let of = |fleet: &Fleet| {
            let found = needs(fleet).iter().find(|need| need.resource == resource);
            amount(found.map_or(0.0, |need| need.machines))
        };
        row(&format!("{machines}: {resource}"), fleets, of)
    };
    names.map(row_of).collect()
}

fn outages(fleets: &[Fleet; SCALES.len()], standby: Standby, seed: u64) -> Vec<Row> {
    let years = fleets.each_ref().map(|fleet| year(fleet, standby, seed));
    let row = |name: &str, cell: fn(&Year) -> String| (name.to_owned(), years.each_ref().map(cell));
    vec![
        row("servers that die alone", |year| whole(year.deaths)),
        row("…their homes answer again", |year| spread(&year.server)),
        row("a third of the servers dies: its homes answer again", |year| spread(&year.zone)),
        row("failovers of PostgreSQL", |year| whole(year.failovers)),
        row("…their homes answer again", |year| spread(&year.postgres)),
        row("a home answers, of the whole year", |year| {
            format!("{:.4} %", year.availability * 100.0)
        }),
    ]
}

/// Half of the times, all but a hundredth, and the longest.
fn spread(outages: &Outages) -> String {
    let [half, most, longest] =
        [outages.percentile(50), outages.percentile(99), outages.longest()].map(amount);
    format!("{half} / {most} / {longest} s")
}

fn whole(count: usize) -> String {
    amount(f64::from(u32::try_from(count).unwrap_or(u32::MAX)))
}

fn table(heads: &[String], rows: &[Row]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(heads);
    text.push_str("|---|");
    text.push_str(&"---:|".repeat(heads.len() - 1));
    text.push('\n');
    for (name, cells) in rows {
        text.push_str(&line(&[std::slice::from_ref(name), cells].concat()));
    }
    text
}

fn givens(all: &[Given]) -> String {
    let mut text = "| figure | value | from |\n|---|---:|---|\n".to_owned();
    for Given { what, value, unit, source } in all {
        let value = format!("{} {unit}", amount(*value));
        // Writing to a String cannot fail.
        _ = writeln!(text, "| {what} | {} | {source} |", value.trim_end());
    }
    text
}

/// Gigabytes, as people say them.
fn bytes(gigabytes: f64) -> String {
    if gigabytes >= 1_000.0 {
        format!("{} TB", amount(gigabytes / 1e3))
    } else {
        format!("{} GB", amount(gigabytes))
    }
}

/// A number with the digits that matter: two below ten, none above a hundred, and thousands apart.
fn amount(value: f64) -> String {
    let text = match value {
        value if value.fract() == 0.0 || value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    };
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let mut apart = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    if part.is_empty() { apart } else { format!("{apart}.{part}") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::simulate::SEED;

    const BEGIN: &str = "<!-- generated by `make bench ARGS=--simulate` -->\n";
    const END: &str = "<!-- end of what is generated -->\n";

    #[test]
    fn numbers_are_readable() {
        let shown = [0.0, 0.614, 4.0, 15.04, 123.4, 1_234.0, 10_000_000.0].map(amount);
        assert_eq!(shown, ["0", "0.61", "4", "15.0", "123", "1,234", "10,000,000"]);
        assert_eq!((bytes(0.5), bytes(1_500.0)), ("0.50 GB".to_owned(), "1.50 TB".to_owned()));
    }

    /// `UPDATE_SCALE=1` writes it anew.
    #[test]
    fn the_page_has_the_figures_of_the_simulation() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/explanation/scale.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once(BEGIN).expect("the page has a place for them");
        let (found, after) = rest.split_once(END).expect("that place has an end");
        let made = format!("\n{}\n", block(SEED));
        if std::env::var_os("UPDATE_SCALE").is_some() {
            std::fs::write(&path, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
        } else {
            assert_eq!(found, made, "run `UPDATE_SCALE=1 cargo nextest run -p bench`");
        }
    }
}
