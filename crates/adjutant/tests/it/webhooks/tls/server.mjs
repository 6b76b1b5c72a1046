// A receiver behind TLS: prints its port, then a line for each message.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const here = (name) => readFileSync(new URL(name, import.meta.url));
const server = createServer({ key: here("server.key"), cert: here("server.pem") }, (request, answer) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    console.log(JSON.parse(body).type);
    answer.writeHead(204).end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
