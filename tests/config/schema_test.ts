import { jsonSchema } from "../../src/config/schema.ts";
import { assert } from "./support.ts";

type Json = { [key: string]: Json };

Deno.test("the JSON Schema is of draft 2020-12 and strict", () => {
  const schema = jsonSchema() as Json;
  assert.equal(schema.$schema as unknown, "https://json-schema.org/draft/2020-12/schema");
  assert.deepEqual(Object.keys(schema.properties), ["$schema", "guardrails", "screenings"]);
  const tree = schema.properties.guardrails.properties.trees.additionalProperties;
  assert.deepEqual(tree.required as unknown, ["path"]);
  assert.deepEqual(Object.keys(tree.properties), ["path", "can", "scopes"]);
  assert.deepEqual(tree.properties.can.items as unknown, {
    type: "string",
    enum: ["list", "read", "create", "update", "rename", "delete", "execute"],
  });
  assert.deepEqual(tree.properties.scopes.additionalProperties.required as unknown, ["can"]);
  assert.equal(JSON.parse(JSON.stringify(schema)).properties.screenings.properties.models.type, "string");
});

Deno.test("every key has a description, every object is closed", () => {
  const look = (schema: Json, path: string) => {
    for (const [key, below] of Object.entries(schema.properties ?? {})) {
      assert.ok(below.description, `${path}.${key}`);
      look(below, `${path}.${key}`);
    }
    if ((schema.type as unknown) === "object") assert.notEqual(schema.additionalProperties, undefined, path);
    if (typeof schema.additionalProperties === "object") look(schema.additionalProperties, `${path}.*`);
  };
  look(jsonSchema() as Json, "");
});
