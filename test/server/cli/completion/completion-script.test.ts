import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Argument, Command, Option } from "commander";
import { type Test, test } from "tap";
import { commandNodes } from "../../../../server/cli/completion/command-tree.ts";
import { completionScript } from "../../../../server/cli/completion/completion-script.ts";
import { shells } from "../../../../server/cli/completion/shells.ts";
import { hostplane } from "../run-hostplane.ts";

const run = promisify(execFile);
const whereIs = (shell: string) =>
  spawnSync(shell, ["-c", "exit"]).status === 0 ? {} : { skip: `${shell} is not installed` };

/** Writes the program's own script to a file. */
async function scriptOf(
  t: Test,
  shell: string,
): Promise<{ readonly directory: string; readonly file: string }> {
  const directory = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, `hostplane.${shell}`);
  const { code, stdout } = await hostplane(["completion", shell]);
  t.equal(code, 0);
  await writeFile(file, stdout);
  return { directory, file };
}

test("bash completes commands, options, choices and files", whereIs("bash"), async (t) => {
  const { directory, file } = await scriptOf(t, "bash");
  await writeFile(join(directory, "my config.yaml"), "");
  const probe = join(directory, "probe.bash");
  await writeFile(
    probe,
    `source ${file}; source ${file}
complete -p hostplane | grep -q -- '-F _hostplane hostplane' || exit 3
compopt() { echo "compopt $*"; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_hostplane hostplane "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "\${COMPREPLY[@]}"
`,
  );
  const complete = async (...words: string[]) =>
    (await run("bash", [probe, "hostplane", ...words], { cwd: directory })).stdout.trim().split("\n");

  t.same(await complete("us"), ["user"]);
  t.same(await complete("user", ""), ["add", "list", "remove", "passwd", "role", "grant", "help"]);
  t.same(await complete("user", "add", "--r"), ["--role"]);
  t.same(await complete("user", "add", "alice", "--role", ""), ["viewer", "operator", "admin"]);
  t.same(await complete("user", "role", "alice", "op"), ["operator"]);
  t.same(await complete("user", "--"), ["--help"]);
  t.same(await complete("operation", "list", "--state", ""), [
    "scheduled",
    "active",
    "undoing",
    "completed",
    "failed",
    "cancelled",
    "needs-attention",
  ]);
  t.same(await complete("token", "create", "user", "--ser"), ["--services"], "an argument is not a command");
  t.same(await complete("completion", "z"), ["zsh"]);
  t.same(await complete("serve", "--config", "my"), ["compopt -o default"]);
  t.same(await complete("serve", "--data", ""), ["compopt -o dirnames"]);
  t.same(await complete("store", "backup", ""), ["compopt -o default"]);
  t.same(await complete("user", "remove", ""), [""], "a free value");
  const touched = join(directory, "touched");
  await complete("user", `$(touch ${touched})`, `\`touch ${touched}\``, "");
  await t.rejects(run("ls", [touched]), "typed text is never executed");
});

test("interactive bash offers completions", whereIs("bash"), async (t) => {
  const { directory, file } = await scriptOf(t, "bash");
  const rc = join(directory, "rc");
  await writeFile(
    rc,
    `source ${file}\nbind 'set show-all-if-ambiguous on'\nbind 'set bell-style none'\nPS1='> '\n`,
  );
  const child = run("bash", ["--noprofile", "--rcfile", rc, "-i"], {
    env: { PATH: process.env.PATH, TERM: "dumb", HOME: directory },
  });
  child.child.stdin?.end("hostplane token rev\t--da\t\nexit\n");
  const { stdout, stderr } = await child.catch((error) => error);
  t.match(stdout + stderr, /hostplane token revoke --data/);
});

test("zsh completes commands, choices and directories", whereIs("zsh"), async (t) => {
  const { directory, file } = await scriptOf(t, "zsh");
  const probe = join(directory, "probe.zsh");
  await writeFile(
    probe,
    `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print "files $*"; }
source ${file}
words=("$@"); CURRENT=$#
_hostplane
`,
  );
  const complete = async (...words: string[]) =>
    (await run("zsh", ["-f", probe, "hostplane", ...words])).stdout.trim().split("\n");
  t.ok((await complete("user", "")).includes("passwd"));
  t.same(await complete("user", "add", "--role", ""), ["viewer", "operator", "admin"]);
  t.same(await complete("serve", "--data", ""), ["files -/"]);
});

test("fish completes commands, options and choices", whereIs("fish"), async (t) => {
  const { file } = await scriptOf(t, "fish");
  const complete = async (line: string) =>
    (await run("fish", ["--no-config", "-c", `source ${file}; complete -C '${line}'`])).stdout;
  t.match(await complete("hostplane user "), /^passwd\t/m);
  t.match(await complete("hostplane user add --role "), /^viewer$/m);
  t.match(await complete("hostplane user add --cert"), /^--certificate\t/m);
});

test("descriptions cannot break the script's quoting", async (t) => {
  const program = new Command("tool");
  program
    .command("a")
    .description(`it's "quoted" \\ $(so)`)
    .addOption(new Option("-k, --kind <kind>", "it's").choices(["x", "y"]))
    .addArgument(new Argument("[dir]"));
  t.match(commandNodes(program)[1], {
    path: ["a"],
    options: [{ flags: ["--kind", "-k"], value: { kind: "words", words: ["x", "y"] } }, {}],
    argument: { kind: "directories" },
  });
  t.match(completionScript(program, "fish"), `-d 'it\\'s "quoted" \\\\ $(so)'`);
  for (const shell of shells) {
    const checked = spawnSync(shell, ["-n"], { input: completionScript(program, shell) });
    t.ok(checked.error !== undefined || checked.status === 0, `${shell}: ${checked.stderr}`);
  }
});

test("an unknown shell is rejected with the list of supported ones", async (t) => {
  t.match(await hostplane(["completion", "tcsh"]), { code: 2, stderr: /bash, zsh, fish/ });
});
