//! JSON output of `home`.

use testkit::postgres::Postgres;

use super::Taken;

#[tokio::test]
async fn homes() {
    let mut taken = Taken::new("homes");
    let postgres = Postgres::start(&[]).unwrap();
    let (first, second) = (crate::world().await, crate::world().await);
    let database = postgres.address();
    first.run(&["tasks", "add", "One"]).await.unwrap().ok().unwrap();
    first.run(&["down"]).await.unwrap().ok().unwrap();
    let import = ["home", "import", "first", "--database", &database];
    taken.take_one(&first, "home import", &import).await;
    let create = ["home", "create", "second", "--database", &database];
    taken.take_one(&second, "home create", &create).await;
    first.run(&["up", "--detach"]).await.unwrap().ok().unwrap();
    taken.take_one(&first, "home list", &["home", "list"]).await;
    let role = "---\nname: critic\ncategory: review\n---\nBe kind.\n";
    std::fs::write(first.home().join("roles/critic.md"), role).unwrap();
    taken.take_one(&first, "home diff", &["home", "diff"]).await;
    taken.take_one(&first, "home push", &["home", "push"]).await;
    std::fs::write(first.home().join("roles/critic.md"), "---\nname: critic\n---\n").unwrap();
    std::fs::write(first.home().join("roles/extra.md"), role).unwrap();
    taken.take_one(&first, "home pull", &["home", "pull"]).await;
    taken.take_one(&first, "home check", &["home", "check"]).await;
    taken.take_one(&first, "home export", &["home", "export", "copy"]).await;
    first.run(&["down"]).await.unwrap().ok().unwrap();
    taken.take_one(&first, "home export", &["home", "export"]).await;
    taken.hold();
}
