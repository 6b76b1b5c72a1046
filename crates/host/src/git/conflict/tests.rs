//! Marks of conflicts.

use super::*;

#[test]
fn conflicts_are_found_between_their_marks() {
    let text = b"1\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n2\n<<<<<<< a\r\n=======\r\n>>>>>>> b\r\n";
    assert_eq!(lines(text), [(2, 6), (8, 10)]);
    assert_eq!(lines(b"<<<<<<< a\n||||||| base\n=======\n>>>>>>> b"), [(1, 4)]);
    // Longer marks belong together, shorter ones and words are text.
    assert_eq!(lines(b"<<<<<<<<<< a\n>>>>>>> no\n=======\n>>>>>>>>>> b\n"), [(1, 4)]);
    assert_eq!(lines(b"<<<<<<\n>>>>>>>\n<<<<<<<x\n>>>>>>> b\n"), []);
    assert_eq!(lines(b"<<<<<<< part of the file\n<<<<<<< a\n>>>>>>> b\n"), [(2, 3)]);
    assert_eq!(lines(b""), []);
}

#[test]
fn an_answer_is_read_with_its_odd_names() {
    let output =
        b"tree\x00100644 aa 2\ttwo\nlines\x00100644 bb 3\ttwo\nlines\x00100644 cc 1\tbin\0\0\
        1\0bin\0CONFLICT (binary)\0warning: Cannot merge binary files: bin\n\0\
        1\0bin\0CONFLICT (contents)\0CONFLICT (content): Merge conflict in bin\n\0\
        2\0two\nlines\0else\0CONFLICT (contents)\0CONFLICT (add/add): Merge conflict\n\0";
    let answer = ConflictReport::of(output);
    assert_eq!(answer.tree, "tree");
    let wanted = [(b"bin".to_vec(), "binary"), (b"two\nlines".to_vec(), "add/add")];
    let wanted = wanted.map(|(path, kind)| (path, Some(kind.to_owned())));
    assert_eq!(answer.files.into_iter().collect::<Vec<_>>(), wanted);
    // A clean one is a tree and perhaps words.
    let answer = ConflictReport::of(b"tree\0\x001\0a\0Auto-merging\0Auto-merging a\n\0");
    assert!(answer.files.is_empty() && answer.tree == "tree");
}
