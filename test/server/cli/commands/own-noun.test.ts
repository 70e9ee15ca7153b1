import { test } from "tap";
import { InventoryService } from "../../../../gen/hostplane/v1/inventory_pb.ts";
import { runCommandLine } from "../../../../server/cli/command-line.ts";
import { change, custom } from "../../../../server/cli/table/command.ts";
import {
  argument,
  flag,
  option,
  optionList,
  size,
  withDefault,
  word,
} from "../../../../server/cli/table/parameter.ts";

const pet = {
  group: "Animals:",
  summary: "manage pets",
  load: async () => ({
    commands: [
      custom({
        name: "feed",
        summary: "feed a pet",
        parameters: {
          name: argument("name of the pet"),
          portion: option("how much", size),
          food: withDefault("1KiB", "what", size),
          mealTag: optionList("a tag", word("tag")),
          noSalt: flag("leave out the salt"),
        },
        run: async (_session, values, printer) => {
          const { name, portion, food, mealTag, noSalt } = values;
          printer.out([name, portion, food, mealTag, noSalt].join(" "));
          return 0;
        },
      }),
      change({
        name: "sell",
        summary: "sell a pet",
        destroys: true,
        method: InventoryService.method.listResources,
        done: () => "sold",
      }),
    ],
  }),
};

async function run(...args: string[]) {
  const lines: string[] = [];
  const code = await new Promise<number>((resolve) => {
    const output = {
      out: (line: string) => void lines.push(line),
      err: (line: string) => void lines.push(line),
    };
    void runCommandLine(args, output, resolve, { pet });
  });
  return { code, text: lines.join("\n") };
}

test("a domain's commands get help, and options as their rows say", async (t) => {
  t.match((await run("--help")).text, /^Animals:\n {2}pet +manage pets$/m);
  const { code, text } = await run("help", "pet", "feed");
  t.equal(code, 0);
  t.match(text, /^Usage: hostplane pet feed \[options\] <name>$/m);
  t.match(text, /^ {2}--portion <size> +how much$/m);
  t.match(text, /^ {2}--food <size> +what \(default: 1KiB\)$/m);
  t.match(text, /^ {2}--meal-tag <tag> +a tag; repeatable$/m);
  t.match(text, /^ {2}--no-salt +leave out the salt$/m);
  t.notMatch(text, /--dry-run|--yes|--watch|--wait/);
  t.match((await run("pet", "sell", "--help")).text, /--yes/);
  t.match((await run("pet", "feed", "--help")).text, /--output/);
});

test("a typing mistake is refused before anything is called", async (t) => {
  t.match(await run("pet", "feed"), { code: 2, text: "missing required argument 'name'" });
  t.match(await run("pet", "feed", "a", "--portion", "5"), {
    code: 2,
    text: /expected a number with a unit/,
  });
  t.match(await run("pet", "fed", "a"), { code: 2, text: /Did you mean feed/ });
  t.match(await run("pet", "sell"), { code: 2, text: /confirm it with --yes/ });
});
