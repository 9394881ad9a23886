import type { DashboardEnd, DashboardHost, DashboardOptions } from './options.ts'
import type { Size } from './state/state.ts'
import { ShutdownSignals } from './terminal/shutdown.ts'
import { StderrBuffer } from './terminal/stderr-buffer.ts'
import { Term } from './terminal/terminal.ts'

/**
 * Runs the dashboard on a terminal until the user quits. The terminal is restored when this settles, and also when the
 * process exits before.
 *
 * @throws bugs; store errors are displayed, not thrown
 */
export async function openDashboard(options: DashboardOptions, host: DashboardHost): Promise<DashboardEnd> {
  const { stdin, stdout } = host
  if (!stdin.isTTY || !stdout.isTTY) throw new Error('the dashboard needs a terminal for its input and output')
  const end = new ShutdownSignals(host.signal)
  const term = new Term(
    stdin,
    stdout,
    {
      onStop: signal => end.stop(signal),
      onFault: error => end.fail(error),
      onResume: () => end.onResume(),
    },
    host.process,
  )
  term.open()
  const talk = new StderrBuffer(host.stderr ?? { stderr: process.stderr, events: process })
  try {
    const [{ App }, { runDashboard }] = await Promise.all([import('./app.ts'), import('./run.ts')])
    const app = new App({ ...options, size: sizeOf(stdout) })
    return await runDashboard(app, {
      ...host,
      theme: options.theme,
      mouse: options.mouse ?? false,
      term,
      end,
      size: () => sizeOf(stdout),
    })
  } finally {
    term.close()
    end.close()
    talk.release()
  }
}

/** Rows available for frames: a Windows console scrolls when its last cell is written. */
function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  const spare = process.platform === 'win32' ? 1 : 0
  return { columns: Math.max(1, columns || 80), rows: Math.max(1, (rows || 24) - spare) }
}
