// Serves an empty npm registry on a free port of this machine until it is killed, and prints its address.
//
//   node serve.mjs FOLDER
//
// Anybody may publish, and nothing is asked of any other registry.
import path from "node:path";
import { runServer } from "verdaccio";

const folder = path.resolve(process.argv[2]);
const server = await runServer({
  self_path: folder,
  storage: path.join(folder, "storage"),
  web: { enable: false },
  auth: {},
  middlewares: {},
  uplinks: {},
  packages: { "**": { access: "$all", publish: "$all" } },
  // A program with everything inside is larger than most packages.
  max_body_size: "1gb",
  log: { type: "stdout", format: "pretty", level: "fatal" },
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
