/** The monotonic clock of the machine, ms: the same for all its processes. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
