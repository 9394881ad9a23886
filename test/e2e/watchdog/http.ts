import type { WatchdogProcess } from './watchdog-process.ts'

export interface Page {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** The address of a watchdog that listens, from its log. */
export async function pagesOf(watchdog: WatchdogProcess): Promise<(path: string) => Promise<Page>> {
  const { address } = await watchdog.until('listen')
  return async path => {
    const response = await fetch(`http://${address}${path}`)
    return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
  }
}

/** The value of a series in Prometheus' text format; `undefined` if there is none. */
export function metric(text: string, series: string): number | undefined {
  const line = text.split('\n').find(each => each.startsWith(`leasectl_watchdog_${series} `))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}
