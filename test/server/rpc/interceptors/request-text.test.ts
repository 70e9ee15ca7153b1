import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { CreateUserRequestSchema } from "../../../../gen/hostplane/v1/user_pb.ts";
import { requestText } from "../../../../server/rpc/interceptors/request-text.ts";

test("a request is cut at 4 KiB between two characters, and marked", async (t) => {
  const textOf = (name: string) =>
    requestText(CreateUserRequestSchema, create(CreateUserRequestSchema, { name, password: "hidden" })) ?? "";
  t.equal(textOf("a"), '{"name":"a"}');
  const longest = 4096 - Buffer.byteLength('{"name":""}');
  t.equal(Buffer.byteLength(textOf("x".repeat(longest))), 4096);
  t.ok(textOf("x".repeat(longest)).endsWith('"}'));
  const whole = (name: string) => JSON.stringify({ name });
  const names = fc
    .string({ unit: "grapheme", minLength: 1 })
    .chain((text) => fc.integer({ min: 1, max: 5000 }).map((times) => text.repeat(times)));
  fc.assert(
    fc.property(names, (name) => {
      const text = textOf(name);
      if (Buffer.byteLength(whole(name)) <= 4096) {
        return text === whole(name);
      }
      const size = Buffer.byteLength(text);
      return text.endsWith("…") && whole(name).startsWith(text.slice(0, -1)) && size <= 4096 && size > 4092;
    }),
  );
});
