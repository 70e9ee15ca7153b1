import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "tap";
import type { ReasonTable } from "../../../adapters/host/define-reasons.ts";
import { allReasons, reasonTables } from "../../../server/gateway/all-reasons.ts";

const root = resolve(import.meta.dirname, "../../..");

/** The text of each source file, without comments. */
const sources: ReadonlyMap<string, string> = new Map(
  ["adapters", "server"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [file, readFileSync(join(root, file), "utf8").replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, "")]),
);

const tableFiles = [...sources.keys()].filter((file) => /(^|\/)reasons\.ts$/.test(file));

const tables: readonly (readonly [file: string, name: string, table: ReasonTable])[] = await Promise.all(
  tableFiles.map(async (file) => {
    const [[name = "", table = {}] = []] = Object.entries<ReasonTable>(await import(join(root, file)));
    return [file, name, table] as const;
  }),
);

test("docs/reference/errors.md lists exactly the reasons of the code, with their codes and meanings", async (t) => {
  const page = readFileSync(join(root, "docs/reference/errors.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (yes|no) \| (.*) \|$/gm)];
  const documented = rows.map(([, id, code, retryable, meaning]) => [id, code, retryable === "yes", meaning]);
  const coded = allReasons.map(({ id, code, retryable, meaning }) => [id, code, retryable, meaning]);
  t.same(documented.toSorted(), coded.toSorted());
});

test("a meaning is one or more whole sentences", async (t) => {
  for (const { id, meaning } of allReasons) {
    t.match(meaning, /^[A-Z].*[.]$/, id);
  }
});

test("every table belongs to the gateway's, and no reason is declared twice", async (t) => {
  const declared = tables.flatMap(([, , table]) => Object.values(table));
  t.same(new Set(allReasons), new Set(declared));
  const ids = allReasons.map(({ id }) => id);
  t.same(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
  t.ok(reasonTables.every((table) => Object.entries(table).every(([key, { id }]) => key === id)));
});

test("a table imports nothing but tables", async (t) => {
  for (const file of tableFiles) {
    const imported = [...(sources.get(file) ?? "").matchAll(/from "([^"]+)"/g)].map(
      ([, specifier]) => specifier,
    );
    t.same(
      imported.filter((specifier) => !/\/(define-)?reasons\.ts$/.test(specifier ?? "")),
      [],
      file,
    );
  }
});

/** Reasons that are declared outside the only folder that fails with them, because others have to know them. */
const knownToOthers: Readonly<Record<string, string>> = {
  DOMAIN_NOT_BUILT: "the documents of every domain with systems list it",
  LOGIN_PENDING: "the audit of refused calls leaves it out",
  TOO_MANY_LOGINS: "the audit of refused calls counts it",
  VOLUME_TOO_SMALL: "the documents of every domain with backups list it",
};

test("a reason is declared where code fails with it, or where several folders that do can import it", async (t) => {
  const uses = new Map<string, Set<string>>();
  for (const [file, text] of sources) {
    if (/(^|\/)((all|call|method)-)?reasons\.ts$/.test(file)) {
      continue;
    }
    // A reason that is only compared is one that no call fails with.
    const thrown = text.replace(/\.is\([^()]*\)|[!=]== \w+Reasons\.\w+/g, "");
    for (const [, name = "", id = ""] of thrown.matchAll(/\b(\w+Reasons)\.([A-Z_]+)\b/g)) {
      const [declaring = ""] = tables.find((one) => one[1] === name && Object.hasOwn(one[2], id)) ?? [];
      if (declaring === "") {
        t.fail(`${file}: no table declares ${name}.${id}`);
      }
      uses.set(id, (uses.get(id) ?? new Set()).add(file));
    }
  }
  for (const [file, , table] of tables) {
    for (const id of Object.keys(table)) {
      const folders = [...new Set([...(uses.get(id) ?? [])].map(dirname))];
      const isBelow = folders.some((folder) => `${folder}/`.startsWith(`${dirname(file)}/`));
      const isRight = isBelow || folders.length > 1 || (folders.length === 1 && id in knownToOthers);
      t.ok(isRight, `${id} of ${file} is used in ${folders.join(", ") || "no folder"}`);
    }
  }
});

test("code names a reason by its table, never by a text", async (t) => {
  const ids = new Set(allReasons.map(({ id }) => id));
  // Also a code.
  ids.delete("INTERNAL");
  const named = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/"([A-Z_]+)"/g)].flatMap(([, word = ""]) => (ids.has(word) ? `${file}: ${word}` : [])),
  );
  t.same(named, []);
});
