import type { Command } from 'commander'
import { describeGroup } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import * as advance from './event/advance.ts'
import * as complete from './event/complete.ts'
import * as fail from './event/fail.ts'
import * as release from './event/release.ts'
import * as set from './event/set.ts'
import * as start from './event/start.ts'
import * as touch from './event/touch.ts'

/** `event …`: the worker's side, for scripts. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('event').usage('COMMAND STREAM ID')
  describeGroup(group, runtime, {
    summary: "the worker's side: start, touch, release, advance, complete, fail, set",
    description: "The worker's side of an event, for scripts. Every command writes: it takes the lease for one change.",
    examples: [
      ['event start orders/4711 01.00 --owner w7 -q', 'claims it; prints the fence'],
      ['event advance orders/4711 01.00 --fence 1 --next Pay', 'done, and this comes next'],
      ['event complete orders/4711 01.01 --fence 1', 'done, the last of its thread'],
      ["event fail orders/4711 01.01 -m 'no stock'", 'it cannot be done'],
    ],
  })
  for (const command of [start, touch, release, advance, complete, fail, set]) command.register(group, runtime)
}
