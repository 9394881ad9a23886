import type { Command } from 'commander'
import { everywhere } from '../options.ts'
import type { Runtime } from '../runtime.ts'
import * as acquire from './acquire.ts'
import * as breakLease from './break.ts'
import * as change from './change.ts'
import * as release from './release.ts'
import * as renew from './renew.ts'
import * as show from './show.ts'

/** `lease …`: leases by hand. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent
    .command('lease')
    .summary('leases by hand: acquire, renew, change, release, break, show')
    .description('Leases by hand. Only one who holds the lease of a stream can change it.')
    .usage('COMMAND STREAM')
  everywhere(group)
  for (const command of [acquire, renew, change, release, breakLease, show]) command.register(group, runtime)
}
