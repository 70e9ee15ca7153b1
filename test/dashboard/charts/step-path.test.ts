import { test } from "tap";
import { stepPath } from "../../../dashboard/charts/step-path.ts";

const x = (seconds: number) => seconds + 10;
const y = (value: number) => 100 - value;

test("a value stays until the next one, and the area reaches down to 0", async (t) => {
  const points = [
    { x: -10, y: 20 },
    { x: -4, y: 50 },
    { x: 0, y: 50 },
  ];
  t.same(stepPath(points, x, y), {
    line: "M0 80H6V50H10V50H10",
    area: "M0 80H6V50H10V50H10V100H0Z",
  });
});

test("an unknown value is a gap", async (t) => {
  const points = [
    { x: -10, y: 20 },
    { x: -8, y: null },
    { x: -2, y: 30 },
    { x: 0, y: 30 },
  ];
  t.same(stepPath(points, x, y), {
    line: "M0 80H2M8 70H10V70H10",
    area: "M0 80H2V100H0ZM8 70H10V70H10V100H8Z",
  });
  t.same(stepPath([{ x: -5, y: null }], x, y), { line: "", area: "" });
  t.same(stepPath([], x, y), { line: "", area: "" });
});
