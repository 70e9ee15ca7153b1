import { test } from "tap";
import {
  goTo,
  keepScreenshot,
  logIn,
  openPage,
  startBrowser,
  untilLoaded,
  untilToast,
} from "../../browser/browser.ts";
import { adminPassword, startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = (await reasonToSkip()) ?? false;

test("a volume created on the dashboard of a gateway with real LVM exists in LVM and appears in another window", {
  skip,
}, async (t) => {
  const { names, options, shell } = await makeLoopVolumeGroups(t, 1, 1_000);
  const [volumeGroup = ""] = names;
  const { systemDir, activation } = options;
  const volumes = {
    deviceClasses: [{ name: "ssd", volumeGroup, default: true, spareGiB: 0 }],
    lvm: { systemDir, activation },
  };
  const { url } = await startGatewayUnderTest(t, { volumes }, { hasLogin: true });
  const browser = await startBrowser(t);
  const [one, other] = [await openPage(t, browser, url), await openPage(t, browser, url)];
  for (const page of [one, other]) {
    await logIn(page, adminPassword);
    await goTo(page, "Volumes");
    await page.getByText("No volumes yet").waitFor();
  }
  t.equal(await one.locator(".sandbox").count(), 0, "there is no sandbox mark");

  await one.keyboard.press("c");
  const form = one.getByRole("form", { name: "Create the volume" });
  await form.getByLabel("Name").fill("data");
  await form.getByLabel("Size").fill("1 GiB");
  await form.getByLabel("Tags").fill("a=b");
  await form.getByText(`${volumeGroup}/data is created with 1 GiB`).waitFor();
  t.equal(await shell("lvs", "--noheadings", volumeGroup), "", "a plan creates nothing");
  await form.getByRole("button", { name: "Create" }).click();
  await untilToast(one, "Create the volume data: done");

  await other.getByRole("rowheader", { name: "data" }).waitFor();
  await keepScreenshot(other, "volumes-real-lvm");
  const reported = await shell(
    "lvs",
    "--noheadings",
    "--units",
    "g",
    "-o",
    "lv_name,lv_size,lv_tags",
    volumeGroup,
  );
  t.same(reported.trim().split(/\s+/), ["data", "1.00g", "a=b"]);

  await shell("lvremove", "--force", `${volumeGroup}/data`);
  await other.getByRole("rowheader", { name: "data" }).waitFor({ state: "detached" });
  await other.getByText("No volumes yet").waitFor();

  await goTo(other, "Ceph");
  await other.getByText("is not configured").first().waitFor();
  await untilLoaded(other);
  t.equal(
    await other.getByRole("alert").count(),
    0,
    "a disabled domain is mentioned once, and is not an error",
  );
  await keepScreenshot(other, "ceph-off");
});
