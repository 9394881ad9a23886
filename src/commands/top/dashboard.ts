import type { Runtime } from '../../cli/runtime.ts'
import type { DashboardEnd, DashboardOptions } from '../../tui/options.ts'

/** The runtime of the whole program, with the needs of the dashboard. */
export interface ProgramRuntime extends Runtime {
  /** Opens the dashboard on the terminal. Resolves when the user quits or a signal ends it. */
  openDashboard(options: DashboardOptions): Promise<DashboardEnd>
  /** Runs the command line of another runtime and returns its exit code. Never rejects. */
  runCommand(other: ProgramRuntime): Promise<number>
}
