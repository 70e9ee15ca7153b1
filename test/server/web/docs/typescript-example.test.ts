import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { test } from "tap";
import ts from "typescript";
import { typescriptExample } from "../../../../server/web/docs/typescript-example.ts";
import { readDocumentedContract } from "../../rpc/openapi/contract-under-test.ts";

const root = join(import.meta.dirname, "../../../..");

test("every TypeScript example compiles against the client", async (t) => {
  const { methods } = await readDocumentedContract();
  const directory = await mkdtemp(join(root, "test/server/web/docs/examples-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const examples = methods.flatMap((one) => typescriptExample(one) ?? []);
  t.ok(examples.length > 80);
  const file = join(directory, "examples.ts");
  const client = relative(directory, join(root, "client/client.ts"));
  await writeFile(
    file,
    [
      `import type { HostplaneClient } from "${client}";`,
      "export async function examples(hostplane: HostplaneClient): Promise<void> {",
      ...examples.map((example) => `{ ${example.replace("const answer = ", "")} }`),
      "}",
    ].join("\n"),
  );
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, lib: ["es2024", "dom", "dom.iterable"] },
    root,
  );
  const program = ts.createProgram([file], options);
  const mistakes = ts.getPreEmitDiagnostics(program, program.getSourceFile(file));
  t.same(
    mistakes.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
    [],
  );
});
