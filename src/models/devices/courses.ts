/** The last minutes of each device, for a curve as small as a word. */

import type { IInventory } from '../../domain';

/** Seconds that are kept, and the values that they are drawn with. */
export const KEPT_SECONDS = 300;
const KEPT_VALUES = 150;

interface ISample {
  time: number;
  utilization: number | null;
  memory: number | null;
}

export class Courses {
  /** Take a sample in; those that are too old go. */
  add(inventory: IInventory): void {
    for (const { id, utilization, memory_used, memory_total } of inventory.devices) {
      const course = this._courses.get(id) ?? [];
      const last = course[course.length - 1];
      if (last && inventory.time - last.time < KEPT_SECONDS / KEPT_VALUES) {
        continue;
      }
      const memory =
        memory_used !== null && memory_total ? (100 * memory_used) / memory_total : null;
      course.push({ time: inventory.time, utilization, memory });
      while (course.length && inventory.time - course[0].time > KEPT_SECONDS) {
        course.shift();
      }
      this._courses.set(id, course);
    }
  }

  /** How busy a device was, in percent, from the oldest sample on. */
  utilization(id: string): (number | null)[] {
    return (this._courses.get(id) ?? []).map(({ utilization }) => utilization);
  }

  private readonly _courses = new Map<string, ISample[]>();
}
