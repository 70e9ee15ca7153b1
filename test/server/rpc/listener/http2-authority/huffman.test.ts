import fc from "fast-check";
import { test } from "tap";
import { decodeHuffman, encodeHuffman } from "../../../../../server/rpc/listener/http2-authority/huffman.ts";

// RFC 7541 appendix C.4 and C.6.
const vectors = [
  ["www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"],
  ["no-cache", "a8eb10649cbf"],
  ["custom-key", "25a849e95ba97d7f"],
  ["custom-value", "25a849e95bb8e8b4bf"],
  ["302", "6402"],
  ["private", "aec3771a4b"],
  ["Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"],
  ["https://www.example.com", "9d29ad171863c78f0b97c8e9ae82ae43d3"],
  ["307", "640eff"],
  ["gzip", "9bd9ab"],
  [
    "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
  ],
] as const;

test("the examples of RFC 7541 appendix C encode and decode", async (t) => {
  for (const [text, encoded] of vectors) {
    t.equal(encodeHuffman(Buffer.from(text)).toString("hex"), encoded, text);
    t.equal(decodeHuffman(Buffer.from(encoded, "hex"))?.toString(), text, text);
  }
});

test("the longest codes are those of RFC 7541 appendix B", async (t) => {
  // |11111111|11111111|11111111|111100 is 10; 13 ends in 01 and 22 in 10.
  t.equal(encodeHuffman(Buffer.of(10)).toString("hex"), "fffffff3");
  t.equal(encodeHuffman(Buffer.of(13)).toString("hex"), "fffffff7");
  t.equal(encodeHuffman(Buffer.of(22)).toString("hex"), "fffffffb");
  t.equal(encodeHuffman(Buffer.of(255)).toString("hex"), "fffffbbf");
});

test("encoded bytes decode to the same", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (text) =>
      Buffer.from(text).equals(decodeHuffman(encodeHuffman(text)) ?? Buffer.of(1, 2, 3)),
    ),
  );
});

test("arbitrary bytes decode to something that encodes to them again, or to nothing", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const decoded = decodeHuffman(bytes);
      return decoded === undefined || encodeHuffman(decoded).equals(bytes);
    }),
    { numRuns: 2000 },
  );
});

test("wrong padding and the end-of-string symbol are refused", async (t) => {
  t.equal(decodeHuffman(Buffer.from("18", "hex")), undefined, "padding of zeros");
  t.equal(decodeHuffman(Buffer.from("6402ff", "hex")), undefined, "a whole byte of padding");
  t.equal(decodeHuffman(Buffer.from("ffffffff", "hex")), undefined, "the end-of-string symbol");
  t.equal(decodeHuffman(Buffer.alloc(0))?.length, 0, "nothing");
});
