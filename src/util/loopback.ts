/** Whether a host of a URL, a store address or a socket is this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|\[?::1\]?|(::ffff:)?127(\.\d+){1,3})$/.test(host)
}
