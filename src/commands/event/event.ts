import type { Command } from 'commander'
import { everywhere } from '../options.ts'
import type { Runtime } from '../runtime.ts'
import * as advance from './advance.ts'
import * as complete from './complete.ts'
import * as fail from './fail.ts'
import * as release from './release.ts'
import * as set from './set.ts'
import * as start from './start.ts'
import * as touch from './touch.ts'

/** `event …`: the worker's side, for scripts. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent
    .command('event')
    .summary("the worker's side: start, touch, release, advance, complete, fail, set")
    .description("The worker's side of an event, for scripts. Every command writes: it takes the lease for one change.")
    .usage('COMMAND STREAM ID')
  everywhere(group)
  for (const command of [start, touch, release, advance, complete, fail, set]) command.register(group, runtime)
}
