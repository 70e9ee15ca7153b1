import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { PlanService } from "../../gen/hostplane/v1/plan_pb.ts";
import { Role, UserService } from "../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import {
  assertAccessible,
  chooseInRow,
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
  untilToast,
} from "./browser.ts";

const password = "an operator of a test";

test("a plan that waits for approval is announced, shown, approved and applied", async (t) => {
  const approvals = { rules: [{ destroysData: true, approvals: 1 }] };
  const { url } = await startGatewayUnderTest(t, { approvals }, { hasLogin: true });
  const transportOf = async (username: string, secret: string) => {
    const open = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
    const { token } = await createClient(AuthService, open).login({ username, password: secret });
    return createConnectTransport({
      baseUrl: url,
      httpVersion: "1.1",
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${token}`);
          return next(request);
        },
      ],
    });
  };
  const users = createClient(UserService, await transportOf("admin", adminPassword));
  await users.createUser({ name: "alice", role: Role.OPERATOR, password });
  const alice = createClient(PlanService, await transportOf("alice", password));

  const browser = await startBrowser(t);
  const page = await openPage(t, browser, url);
  await logIn(page, adminPassword);
  t.equal(await page.getByText("for your approval").count(), 0);
  const request = { case: "json", value: { name: "sandbox-web" } } as const;
  const { plan } = await alice.createPlan({ method: "proto.LVService/RemoveLV", request });
  const notice = page.getByRole("status").filter({ hasText: "1 plan waits for your approval." });
  await notice.waitFor();
  await keepScreenshot(page, "plans-notice");
  await notice.getByRole("link", { name: "Show" }).click();
  const title = "sandbox-vg/sandbox-web is removed";
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await page.getByText("all data on sandbox-vg/sandbox-web").waitFor();
  await assertAccessible(t, page, "a plan");
  await keepScreenshot(page, "plans-plan");
  await page.getByRole("button", { name: "Approve…" }).click();
  await page.getByRole("dialog").getByText("alice can then make exactly this change").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
  await untilToast(page, `Approve: ${title}: done`);
  await page.getByRole("region", { name: "Approvals" }).getByText("1 of 1").waitFor();
  t.equal(await page.getByRole("button", { name: "Approve…" }).count(), 0);
  t.equal(await page.getByRole("button", { name: "Apply…" }).count(), 0, "it is the plan of another user");
  await goTo(page, "Plans");
  await page.getByRole("row", { name: /approved/ }).waitFor();
  await assertAccessible(t, page, "the list of plans");
  await keepScreenshot(page, "plans-list");
  await alice.applyPlan({ id: plan?.id ?? "" });
  await page.getByRole("row", { name: /applied/ }).waitFor();
});

test("a change that needs approval is reported as waiting, with its plan", async (t) => {
  const approvals = { rules: [{ methods: ["proto.LVService/RemoveLV"], approvals: 1 }] };
  const { url } = await startGatewayUnderTest(t, { approvals }, { hasLogin: true });
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, url);
  await logIn(page, adminPassword);
  await goTo(page, "Volumes");
  await chooseInRow(page, "sandbox-web", "Remove…");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Type sandbox-web to confirm").fill("sandbox-web");
  await dialog.getByRole("button", { name: "Remove" }).click();
  await untilToast(page, "Remove the volume sandbox-web: waits for approval");
  await page.getByRole("list", { name: "Results" }).getByRole("link", { name: "View" }).click();
  await page.getByText("No approvals yet.").waitFor();
  t.equal(await page.getByRole("button", { name: "Approve…" }).count(), 0, "not one's own plan");
  await goTo(page, "Overview");
  t.equal(await page.getByText("for your approval").count(), 0);
});
