/** Something that is made when it is first asked for; where that failed, by the next who asks. */
export class Once<T> {
  constructor(private readonly _make: () => Promise<T>) {}

  /** What was made; null before. */
  get value(): T | null {
    return this._value;
  }

  get(): Promise<T> {
    this._made ??= this._make().then(
      made => (this._value = made),
      error => {
        this._made = null;
        throw error;
      }
    );
    return this._made;
  }

  private _value: T | null = null;
  private _made: Promise<T> | null = null;
}
