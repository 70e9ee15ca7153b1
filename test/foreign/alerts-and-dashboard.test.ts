import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { parse } from "yaml";
import { InventoryService } from "../../gen/hostplane/v1/inventory_pb.ts";
import { VolumeService } from "../../gen/hostplane/v1/volume_pb.ts";
import { LVService, VGService } from "../../gen/proto/lvmd_pb.ts";
import { root } from "../server/cli/run-hostplane.ts";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { standInLvm } from "../server/observability/stand-in-lvm.ts";
import { systemTool } from "./foreign-tool.ts";
import { promqlNames } from "./promql-names.ts";
import { runTool } from "./tool-process.ts";

const { path: promtool, skip } = await systemTool("promtool");

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

const alerts: { readonly groups: readonly { readonly rules: readonly Rule[] }[] } = parse(
  await readFile(join(root, "deploy/prometheus/alerts.yaml"), "utf8"),
);
const rules = alerts.groups.flatMap((group) => group.rules);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(
  await readFile(join(root, "deploy/grafana/hostplane.json"), "utf8"),
);
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
);

test("promtool accepts the alerts, and each fires and does not fire as tested", { skip }, async (t) => {
  const check = ["check", "rules", join(root, "deploy/prometheus/alerts.yaml")];
  const run = ["test", "rules", join(root, "test/foreign/alerts-test.yaml")];
  for (const args of [check, run]) {
    const { code, stdout, stderr } = await runTool(promtool, args);
    t.equal(code, 0, stdout + stderr);
  }
  const cases: { readonly tests: readonly { readonly alert_rule_test: readonly AlertCase[] }[] } = parse(
    await readFile(join(root, "test/foreign/alerts-test.yaml"), "utf8"),
  );
  const tested = cases.tests.flatMap((each) => each.alert_rule_test);
  for (const { alert } of rules) {
    const own = tested.filter(({ alertname }) => alertname === alert);
    t.ok(
      own.some(({ exp_alerts }) => exp_alerts.length > 0),
      `${alert} fires`,
    );
    t.ok(
      own.some(({ exp_alerts }) => exp_alerts.length === 0),
      `${alert} does not fire`,
    );
  }
});

interface AlertCase {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}

test("Prometheus parses every query of the dashboard", { skip }, async (t) => {
  t.ok(queries.length > 20);
  const directory = await mkdtemp(join(tmpdir(), "hostplane-promql-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const file = join(directory, "queries.yaml");
  const recorded = queries.map(({ expr }, at) => ({
    record: `query_${at}`,
    expr: expr.replaceAll("$__rate_interval", "5m"),
  }));
  await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
  const { code, stdout, stderr } = await runTool(promtool, ["check", "rules", "--lint=none", file]);
  t.equal(code, 0, stdout + stderr);
});

test("a running gateway exposes every metric and label of the alerts and the dashboard", {
  skip,
}, async (t) => {
  const exposed = await exposedLabels(t);
  const uses = [
    ...rules.map(({ alert, expr }) => ({ where: alert, expr, legendFormat: "" })),
    ...queries.map(({ title, expr, legendFormat }) => ({ where: title, expr, legendFormat })),
  ];
  for (const { where, expr, legendFormat } of uses) {
    const { selectors, grouped } = promqlNames(expr);
    t.ok(selectors.length > 0, `${where}: names a metric`);
    for (const { metric, labels } of selectors) {
      const known = exposed.get(metric);
      t.ok(known !== undefined, `${where}: ${metric}`);
      for (const label of [...labels, ...grouped]) {
        t.ok(known?.has(label), `${where}: label ${label} of ${metric}`);
      }
    }
    const all = new Set(selectors.flatMap(({ metric }) => [...(exposed.get(metric) ?? [])]));
    for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      t.ok(all.has(label), `${where}: label ${label} of the legend`);
    }
  }
});

test("the check finds wrong names", async (t) => {
  const wrong = promqlNames(
    'sum by (cod) (rate(hostplane_rpcs{instance=~"$instance", state!="a{b}"}[5m])) > 26 * 3600',
  );
  t.same(wrong, {
    selectors: [{ metric: "hostplane_rpcs", labels: ["instance", "state"] }],
    grouped: ["cod"],
  });
});

/** Reads the labels of each metric from two gateways that have done something, and those that Prometheus adds. */
async function exposedLabels(t: Test): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const sandbox = await startGatewayUnderTest(t);
  const transport = createConnectTransport({ baseUrl: sandbox.url, httpVersion: "2" });
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  await createClient(VGService, transport)
    .watch({}, { signal: leaving.signal })
    [Symbol.asyncIterator]()
    .next();
  await createClient(VolumeService, transport).createSnapshot({ source: "sandbox-web", name: "frozen" });
  const backup = { name: "monday", volumeHandle: "sandbox-web" };
  const resources = createClient(InventoryService, transport).watchResources(
    { filter: { types: ["backup"] } },
    { signal: leaving.signal },
  );
  const changes = resources[Symbol.asyncIterator]();
  await changes.next();
  await createClient(LVService, transport).createBackup({ backup });
  await changes.next();

  const repository = await mkdtemp(join(tmpdir(), "hostplane-repository-"));
  t.teardown(() => rm(repository, { recursive: true }));
  const { volumes } = await standInLvm(t, "vm-thin.txt");
  const deviceClasses = [{ name: "thin", volumeGroup: "vg0", thinPool: "pool", default: true }];
  const schedules = [{ name: "yearly", cron: "0 0 1 1 *", volumes: ["*"] }];
  const lvm = await startGatewayUnderTest(t, {
    volumes: { ...volumes, deviceClasses, backup: { repository, schedules } },
    storeBackups: { directory: join(repository, "store") },
  });
  const texts = [];
  for (const { url } of [sandbox, lvm]) {
    await fetch(`${url}/metrics`);
    texts.push(await (await fetch(`${url}/metrics`)).text());
  }
  const exposed = new Map<string, Set<string>>([["up", new Set(["job", "instance"])]]);
  for (const line of texts.join("\n").split("\n")) {
    const [, metric, labels = ""] = /^([a-z]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric !== undefined) {
      const known = exposed.get(metric) ?? new Set(["job", "instance"]);
      for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) {
        known.add(label);
      }
      exposed.set(metric, known);
    }
  }
  return exposed;
}
