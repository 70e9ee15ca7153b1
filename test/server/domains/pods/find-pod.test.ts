import fc from "fast-check";
import { test } from "tap";
import { findAnyPod, findPod } from "../../../../server/domains/pods/find-pod.ts";
import { idOf, podOf } from "./pods-under-test.ts";

const pods = [podOf("abc1"), podOf("abc2", { name: "web" }), podOf("ffff", { name: "abc1" })];
const [first = podOf("abc1"), second = podOf("abc2"), third = podOf("ffff")] = pods;
const anyWay = { field: "id", prefix: true, name: true };

test("a pod is found by its id, its name or a prefix of its id, in this order", async (t) => {
  t.equal(findPod(pods, first.uuid.toUpperCase(), anyWay), first);
  t.equal(findPod(pods, second.id, anyWay), second, "the runtime's own id");
  t.equal(findPod(pods, "web", anyWay), second);
  t.equal(findPod(pods, "abc1", anyWay), third, "its name takes precedence over a prefix of another's id");
  t.equal(findPod(pods, "abc1", { ...anyWay, name: false }), first);
  t.equal(
    findPod(pods, second.id.slice(0, 12), { ...anyWay, name: false }),
    second,
    "as shown by `podman pod ps`",
  );
  t.equal(findPod(pods, second.uuid.slice(0, 12), { ...anyWay, name: false }), second);
});

test("no match and ambiguous matches are rejected", async (t) => {
  const requested =
    (expected: string, options = anyWay) =>
    () =>
      findPod(pods, expected, options);
  t.throws(requested("abc"), {
    reason: "INVALID_FIELD",
    message: new RegExp(`${first.uuid} and ${second.uuid}`),
  });
  t.throws(requested(""), { name: "InfraError", reason: "INVALID_FIELD", violations: [{ field: "id" }] });
  t.throws(requested("a".repeat(257)), { name: "InfraError", reason: "INVALID_FIELD" });
  t.throws(requested("0"), { name: "InfraError", reason: "POD_NOT_FOUND", resource: "pods/0" });
  t.throws(requested("a\0"), { name: "InfraError", reason: "INVALID_FIELD", message: /printable/ });
  t.throws(requested("abc2", { ...anyWay, prefix: false }), {
    name: "InfraError",
    reason: "POD_NOT_FOUND",
    message: /a prefix of an id is not accepted/,
  });
  t.throws(requested("WEB"), { name: "InfraError", reason: "POD_NOT_FOUND" }, "names are case-sensitive");
});

test("an unreadable pod is found too", async (t) => {
  const pod = podOf("dddd");
  const unreadable = [{ podId: pod.id, podUuid: pod.uuid, why: "it is being removed" }];
  const gone = {
    name: "InfraError",
    reason: "PODMAN_FAILED",
    message: /being removed$/,
    resource: `pods/${pod.uuid}`,
  };
  t.throws(() => findPod(pods, "dd", { ...anyWay, unreadable }), gone);
  t.throws(() => findPod(pods, pod.uuid, { ...anyWay, prefix: false, unreadable }), gone);
  t.throws(() => findPod(pods, "dd", { ...anyWay, prefix: false, unreadable }), {
    name: "InfraError",
    reason: "POD_NOT_FOUND",
  });
});

test("a prefix shared by a readable pod and an unreadable one is ambiguous", async (t) => {
  const pod = podOf("abc3");
  const unreadable = [{ podId: pod.id, podUuid: pod.uuid, why: "it is being removed" }];
  t.throws(() => findPod([first], "abc", { ...anyWay, unreadable }), {
    name: "InfraError",
    reason: "INVALID_FIELD",
    message: new RegExp(`${first.uuid} and ${pod.uuid}`),
  });
  t.equal(findPod([first, pod], pod.uuid, { ...anyWay, unreadable }), pod, "in its last known state");
  const named = podOf("ffff", { name: pod.uuid });
  t.throws(() => findPod([named], pod.uuid, { ...anyWay, unreadable }), {
    name: "InfraError",
    reason: "PODMAN_FAILED",
  });
  t.equal(findAnyPod([first], pod.id.toUpperCase(), { ...anyWay, unreadable }), unreadable[0]);
});

test("any prefix of an id matches one pod, several, or none", async () => {
  const digits = fc.stringMatching(/^[0-3]{1,5}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(digits, { selector: idOf, minLength: 1, maxLength: 8 }),
      digits,
      (ids, expected) => {
        const all = ids.map((each) => podOf(each));
        const meant = all.filter(({ id }) => id.startsWith(expected));
        try {
          return findPod(all, expected, { ...anyWay, name: false }) === meant[0] && meant.length === 1;
        } catch (error) {
          const reason = meant.length === 0 ? "POD_NOT_FOUND" : "INVALID_FIELD";
          return meant.length !== 1 && (error as { reason?: unknown }).reason === reason;
        }
      },
    ),
  );
});
