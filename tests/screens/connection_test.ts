/** Connection strings. Spec: 6-screens §6.7; scenario 181. */
import assert from "node:assert/strict";
import { mixed, says } from "./samples.ts";

const FOUND = ["1 connection-string"];
const WORD = "hunter" + "2x";

Deno.test("an address with a password", () => {
  const authority = (user: string, password: string, host = "db.acme.io") => `${user}:${password}@${host}`;
  const found = [
    `postgres://${authority("app", WORD)}/main`,
    `mongodb+srv://${authority("app", WORD)}`,
    `redis://${authority("", WORD)}:6379/0`,
    `see https://${authority("a", WORD)}, please`,
    `"url":"amqp://${authority("a", "p:" + WORD)}"`,
    `(ftp://${authority("a", "123456")})`,
    `jdbc:x://${authority("a", WORD, "10.0.0.7:99")}`,
    `http://${authority("a", WORD, "[fe80::1]:99")}`,
    `http://${authority("a", WORD, "localhost.acme.io")}`,
    `http://${authority("a", WORD, "myexample.com")}`,
    `http://a:b//x http://${authority("a", WORD)}`,
  ];
  for (const text of found) assert.deepEqual(says(text), FOUND, text.replace(WORD, "…"));

  const passing = [
    `postgres://${authority("app", "12345")}`,
    ...[
      "${PW}",
      "$(pw)",
      "{{pass}}",
      "$PGPASSWORD",
      "%PASSWORD%",
      "changeme",
      "password",
      "xxxxxx",
      "your-pass",
      "REDACTED",
    ]
      .map((pass) => `postgres://${authority("app", pass)}`),
    `postgres://${authority("administrator", "administrator")}`,
    ...[
      "localhost",
      "localhost:5432",
      "LOCALHOST",
      "127.0.0.1:1",
      "127.1.2.3",
      "[::1]:80",
      "host.docker.internal",
      "example",
    ]
      .map((host) => `postgres://${authority("app", WORD, host)}/x`),
    ...["example.com", "example.net.", "example.org:1", "db.example", "a.test", "a.invalid", "a.b.localhost"]
      .map((host) => `postgres://${authority("app", WORD, host)}`),
    `postgres://app@db.acme.io`,
    `postgres://app:${WORD}/db@acme.io`,
    `postgres://app:${WORD}@`,
    `postgres://app:${WORD} @db.acme.io`,
    `postgres://app:"${WORD}"@db.acme.io`,
    `//app:${WORD}@db.acme.io`,
    `://app:${WORD}@db.acme.io`,
    `app:${WORD}@db.acme.io`,
    `http://host:8080/path/${WORD}@3.1`,
  ];
  for (const text of passing) assert.deepEqual(says(text), [], text.replace(WORD, "…"));
});

Deno.test("a list of settings with a password or a key", () => {
  const key = mixed(44) + "==";
  const found = [
    `Server=db;Database=main;User Id=sa;Password=${WORD}`,
    `Server=db;Password=${WORD};Database=main`,
    `"Data Source=db; Initial Catalog=x; pwd=${WORD};"`,
    `conn: Host=db;Username=a;PASSWORD=${WORD}`,
    `<add connectionString="Server=tcp:db.acme.io,1433;Uid=a;Pwd=${WORD};"/>`,
    `Password=${WORD};Server=db.example.com`,
    `DSN=Server=db;Password=${WORD};x=y`,
    `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${key};EndpointSuffix=core.windows.net`,
    `Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${key}`,
  ];
  for (const text of found) assert.deepEqual(says(text), FOUND, text.replace(WORD, "…").replace(key, "…"));

  const passing = [
    `Server=db;Password=short`,
    ...["${PW}", "{{pass}}", "%PW_X%", "changeme", "password", "<secret>"].map((pass) => `Server=db;Password=${pass};`),
    `Server=db;User Id=administrator;Password=administrator`,
    ...["localhost", "tcp:localhost,1433", "127.0.0.1:5432", "example.com"].map((host) =>
      `Server=${host};Password=${WORD}`
    ),
    `AccountName=a;Endpoint=http://127.0.0.1:10000/a;AccountKey=${WORD}`,
    `Password=${WORD}`,
    `Password=${WORD};Colour=red`,
    `Password=${WORD} Server=db`,
    `AccountKey=${WORD};Server=db`,
    `Server=db\nPassword=${WORD};x`,
    `"Server=db;" + "Password=${WORD};"`,
    `this.password=that.password;this.host=that.host`,
    `p->password=q->password;p->host=q->host;`,
    `self.server = db; self.password = other_value`,
    `let password = input_value; let host = other`,
    `MyPassword=${WORD};Server=db`,
  ];
  for (const text of passing) assert.deepEqual(says(text), [], text.replace(WORD, "…"));
});

Deno.test("the line is that of the password, and each list is one of its own", () => {
  const text = `a;b\nServer=a;Password=${WORD}1\n\nPassword=${WORD}2;\nServer=b;Pwd=${WORD}3;Password=${WORD}4`;
  assert.deepEqual(says(text), ["2 connection-string", "5 connection-string", "5 connection-string"]);
});
