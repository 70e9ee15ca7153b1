import { test } from "tap";
import { pauseImage } from "../../../../../adapters/podman/sandbox/sandbox-pods.ts";
import { describeImageUsers } from "../../../../../server/domains/pods/changes/image-users.ts";
import { appImage, createSubject, refusal } from "./changes-under-test.ts";

test("containers outside of pods prevent the removal of an image, and are listed as losses", async (t) => {
  const { runtime, changes, changeCalls, image } = await createSubject(t);
  const idle = "localhost/test/idle:1";
  runtime.pods.addContainer("alone", idle);
  for (const changeCall of changeCalls) {
    await t.rejects(
      changeCall("removeImage", { image: idle }),
      refusal("IMAGE_IN_USE", /idle:1 is used by the container alone: remove them first/),
    );
  }
  t.match(await changes.plan("removeImage", { image: idle, force: true }), {
    plan: { losses: ["the container alone, which is in no pod, with its work in progress and data"] },
  });
  t.match(await changes.make("removeImage", { image: idle, force: true }), { state: "completed" });
  t.equal(await image(idle), "");
});

test("the containers of a pod that are removed with an image are listed, or all if its infra container is one of them", async (t) => {
  const { runtime, changes, pod } = await createSubject(t);
  runtime.pods.addContainer("alone", appImage);
  const { plan } = await changes.plan("removeImage", { image: appImage, force: true });
  t.strictSame(plan.losses.toSorted(), [
    "idle of pod new, with their work in progress and data",
    "server, proxy of pod web, with their work in progress and data",
    "the container alone, which is in no pod, with its work in progress and data",
  ]);
  t.match(await changes.plan("removeImage", { image: pauseImage, force: true }), {
    plan: {
      losses: [/^pod (web|new) with all its containers, /, /^pod (web|new) with all its containers, /],
    },
  });
  const { id, uuid } = await pod("web");
  runtime.pods.breakPod(id, "it is half removed");
  const broken = await changes.plan("removeImage", { image: appImage, force: true });
  t.ok(
    broken.plan.losses.includes(`server, proxy of pod ${uuid}, with their work in progress and data`),
    "also those of an unreadable pod",
  );
});

test("of many users only some are listed", (t) => {
  const users = Array.from({ length: 12 }, (_, number) => ({
    podUuid: undefined,
    who: `the container ${number}`,
    loss: "",
  }));
  t.equal(describeImageUsers(users.slice(0, 2)), "the container 0, the container 1");
  t.match(describeImageUsers(users), /^the container 0, .*, the container 9 and 2 more$/);
  t.end();
});
