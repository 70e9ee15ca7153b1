import fc from "fast-check";
import { test } from "tap";
import {
  isAuthorityByte,
  rewriteAuthority,
} from "../../../../../server/rpc/listener/http2-authority/hpack-authority.ts";
import { encodeHuffman } from "../../../../../server/rpc/listener/http2-authority/huffman.ts";
import { arbitraryFields, decodeBlock, encodeFields } from "./hpack-codec.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const withDashes = (value: string) =>
  Buffer.from(Buffer.from(value, "latin1").map((byte) => (isAuthorityByte(byte) ? byte : 0x2d))).toString(
    "latin1",
  );

test("for the requests of RFC 7541 appendix C.3 and C.4 the same object is returned", async (t) => {
  for (const block of [
    hex("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"),
    hex("8286 84be 5808 6e6f 2d63 6163 6865"),
    hex("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"),
    hex("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"),
    hex("8286 84be 5886 a8eb 1064 9cbf"),
    hex("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"),
  ]) {
    t.equal(rewriteAuthority(block), block);
  }
});

test("a path becomes an authority in every form of a literal", async (t) => {
  const raw = Buffer.from("/run/lvmd.sock");
  const replaced = Buffer.from("-run-lvmd.sock");
  const name = Buffer.from(":authority");
  const string = (text: Buffer, isHuffman: boolean) => {
    const payload = isHuffman ? encodeHuffman(text) : text;
    return Buffer.concat([Buffer.of((isHuffman ? 0x80 : 0) | payload.length), payload]);
  };
  for (const isHuffman of [false, true]) {
    for (const prefix of ["41", "01", "11"]) {
      const [before, after] = [raw, replaced].map((value) =>
        Buffer.concat([hex(`8286 ${prefix}`), string(value, isHuffman), hex("84")]),
      );
      t.same(rewriteAuthority(before ?? raw), after, `${prefix}, Huffman ${isHuffman}`);
    }
    for (const prefix of ["40", "00", "10"]) {
      for (const isNameHuffman of [false, true]) {
        const [before, after] = [raw, replaced].map((value) =>
          Buffer.concat([
            hex(`8286 ${prefix}`),
            string(name, isNameHuffman),
            string(value, isHuffman),
            hex("84"),
          ]),
        );
        t.same(rewriteAuthority(before ?? raw), after, `${prefix}, Huffman ${isNameHuffman} ${isHuffman}`);
      }
    }
  }
});

test("a value whose replacement is shorter in Huffman code keeps its decoded length", async (t) => {
  const value = `@é{${"\\".repeat(200)}`;
  const block = encodeFields([
    { name: ":authority", value, representation: "indexed", isHuffman: true, isNameLiteral: false },
  ]);
  const rewritten = rewriteAuthority(block);
  t.ok(rewritten.length < block.length);
  t.same(decodeBlock(rewritten)?.fields.at(-1), [":authority", "-".repeat(value.length)]);
});

test("other fields may contain any bytes", async (t) => {
  for (const name of ["host", ":path", ":authority2", "x-authority"]) {
    const block = encodeFields([
      { name, value: "/a b@", representation: "indexed", isHuffman: true, isNameLiteral: true },
    ]);
    t.equal(rewriteAuthority(block), block, name);
  }
});

test("any list of fields decodes to the same except for the authority, with equal dynamic tables", async () => {
  fc.assert(
    fc.property(arbitraryFields, (fields) => {
      const block = encodeFields(fields);
      const rewritten = rewriteAuthority(block);
      const before = decodeBlock(block);
      const after = decodeBlock(rewritten);
      if (before === undefined || after === undefined) {
        throw new Error("does not decode");
      }
      const expected = before.fields.map(([name, value]) => [
        name,
        name === ":authority" ? withDashes(value) : value,
      ]);
      if (JSON.stringify(after.fields) !== JSON.stringify(expected)) {
        throw new Error("other fields");
      }
      if (after.tableBytes !== before.tableBytes) {
        throw new Error("other table size");
      }
      if (rewritten.length > block.length) {
        throw new Error("longer");
      }
      const isUntouched = JSON.stringify(before.fields) === JSON.stringify(expected);
      if ((rewritten === block) !== isUntouched) {
        throw new Error("identity");
      }
    }),
    { numRuns: 1000 },
  );
});

test("arbitrary and damaged blocks never throw and never grow", async () => {
  const damaged = fc
    .tuple(arbitraryFields, fc.nat(), fc.nat({ max: 255 }), fc.nat())
    .map(([fields, at, byte, cut]) => {
      const block = encodeFields(fields);
      if (block.length > 0) {
        block[at % block.length] = byte;
      }
      return block.subarray(0, block.length === 0 ? 0 : cut % (block.length + 1));
    });
  const arbitrary = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(damaged, arbitrary), (block) => {
      const rewritten = rewriteAuthority(block);
      return rewritten.length <= block.length && rewriteAuthority(rewritten) === rewritten;
    }),
    { numRuns: 5000 },
  );
});

test("a malformed block is returned unchanged, even after an authority", async (t) => {
  const authority = "41 02 2f 61";
  for (const [what, tail] of [
    ["a truncated integer", "7f ff"],
    ["an integer without end", "7f ff ff ff ff ff ff ff ff 01"],
    ["a truncated string", "41 05 61"],
    ["no value", "41"],
    ["no name", "40"],
    ["a wrong length", "41 7f ff ff ff 7f 61"],
  ] as const) {
    const block = hex(`${authority} ${tail}`);
    t.equal(rewriteAuthority(block), block, what);
  }
  const badHuffman = hex("41 81 18");
  t.equal(rewriteAuthority(badHuffman), badHuffman, "Huffman padding of zeros");
});
