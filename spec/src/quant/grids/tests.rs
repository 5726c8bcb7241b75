use super::{GRIDS, even_signs, sign};

#[test]
fn grids_have_their_sizes_and_unique_points() {
    assert_eq!(GRIDS.map(|grid| grid.points.len()), [2048, 256, 512, 1024, 256, 512]);
    for grid in GRIDS {
        assert!(grid.points.is_sorted_by(|a, b| a < b), "{}", grid.name);
        for (index, &point) in (0..).zip(grid.points) {
            // Made again from its coordinates: no digit is beyond the levels, and no bit is left over.
            let again = (0..grid.coordinates).rev().fold(0, |number, i| {
                let level = grid.value(index, i);
                let digit = grid.levels.iter().position(|&each| each == level).expect("a level");
                number << grid.digit_bits() | digit
            });
            assert_eq!(again, usize::from(point), "{} {index}", grid.name);
        }
    }
}

#[test]
fn stored_signs_are_all_the_even_ones() {
    let mut all: Vec<_> = (0..128).map(even_signs).collect();
    assert!(all.iter().all(|signs| signs.count_ones() % 2 == 0 && *signs < 256));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 128);
    assert_eq!([0, 1, 7].map(|i| sign(0b1000_0001, i)), [-1, 1, -1]);
}
