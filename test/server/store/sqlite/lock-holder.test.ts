import fc from "fast-check";
import { test } from "tap";
import { parseLockHolder } from "../../../../server/store/sqlite/lock-holder.ts";

/** In the format of Linux: process 4711 has its database (inode 9712) open, and other processes hold other locks. */
const locks = `1: FLOCK  ADVISORY  WRITE 311 fe:00:9712 0 EOF
2: POSIX  ADVISORY  WRITE 120 fe:00:9712 0 EOF
3: POSIX  ADVISORY  READ  4710 fe:00:9713 1073741826 1073742335
4: POSIX  ADVISORY  WRITE 4711 fe:00:9712 1073741824 1073742335
4: -> POSIX  ADVISORY  WRITE 4712 fe:00:9712 1073741824 1073742335
`;

test("the holder of SQLite's lock is distinguished from those of other locks and files", async (t) => {
  t.equal(parseLockHolder(locks, 9712), 4711);
  t.equal(parseLockHolder(locks, 9713), 4710);
  t.equal(parseLockHolder(locks, 1), undefined);
  t.equal(parseLockHolder("", 9712), undefined);
  const hidden = "1: POSIX  ADVISORY  WRITE 0 fe:00:9712 1073741824 1073742335";
  t.equal(parseLockHolder(hidden, 9712), undefined, "a process of another container has the ID 0");
});

test("any text is parsed without an error", async () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), (text, inode) => {
      const pid = parseLockHolder(text, inode);
      return pid === undefined || pid > 0;
    }),
  );
});
