//! JSON output of `clean`, `backup` and `restore`.

use super::Taken;

#[tokio::test]
async fn keeping_house() {
    let mut taken = Taken::new("house");
    let world = crate::world().await;
    world.run(&["tasks", "add", "One"]).await.unwrap().ok().unwrap();
    world.run(&["tasks", "add", "Two"]).await.unwrap().ok().unwrap();
    taken.take_one(&world, "clean", &["clean", "--dry-run"]).await;
    taken.take_one(&world, "clean", &["clean", "--older-than", "0s"]).await;
    taken.take_one(&world, "backup", &["backup", "crew.tar"]).await;
    world.run(&["down"]).await.unwrap().ok().unwrap();
    taken.take_one(&world, "restore", &["restore", "crew.tar", "--force"]).await;
    let empty = ["restore", "crew.tar", "--home", "elsewhere"];
    taken.take_one(&world, "restore", &empty).await;
    taken.hold();
}
