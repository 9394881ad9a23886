import type { Runtime } from '../../cli/runtime.ts'
import type { DashboardEnd, DashboardOptions } from '../../tui/options.ts'

/** The runtime of the whole program: with what the dashboard needs beyond that of other commands. */
export interface ProgramRuntime extends Runtime {
  /** The dashboard, on the terminal that stdin and stdout are, until somebody quits or a signal ends it. */
  openDashboard(options: DashboardOptions): Promise<DashboardEnd>
  /** Runs the command line of another runtime as this program would, and returns its exit code. Never rejects. */
  runCommand(other: ProgramRuntime): Promise<number>
}
