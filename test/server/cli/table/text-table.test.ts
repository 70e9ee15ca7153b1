import { test } from "tap";
import { textTable } from "../../../../server/cli/table/text-table.ts";

test("columns are just wide enough, and no line ends in spaces", async (t) => {
  t.same(
    textTable(
      ["NAME", "ROLE"],
      [
        ["a", "operator"],
        ["a-long-name", ""],
      ],
    ),
    ["NAME         ROLE", "a            operator", "a-long-name"],
  );
  t.same(textTable(["NAME"], []), ["NAME"]);
});
