"use strict";
// Builds the page from the data that stands in it: tables, timelines on a canvas, plots by dygraphs.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  // Those of Okabe and Ito, which the colour-blind tell apart; `lockstep plot` has the same.
  const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
  const colourOf = (index) => colours[index % colours.length];

  const add = (parent, tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return parent.appendChild(element);
  };
  const number = (value) => {
    if (value === null) return "-";
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return Math.abs(value) >= 1e6 ? value.toExponential(4) : value.toPrecision(6);
  };
  // For axes: few digits, and prefixes of large numbers only (0.8 is no "800m").
  const short = (value) => {
    for (const [factor, prefix] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
      if (Math.abs(value) >= 10 * factor) return `${Number((value / factor).toPrecision(3))} ${prefix}`;
    return String(Number(value.toPrecision(3)));
  };
  const microseconds = (nanoseconds) => nanoseconds === null ? "never" : (nanoseconds / 1000).toFixed(3);

  const table = (parent, head, rows, attributes = {}) => {
    const element = add(parent, "table", undefined, attributes);
    const first = add(element, "tr");
    for (const text of head) add(first, "th", text);
    for (const row of rows) {
      const line = add(element, "tr");
      for (const cell of row) {
        const field = add(line, "td");
        if (cell instanceof Node) field.appendChild(cell);
        else field.textContent = cell;
      }
    }
    return element;
  };
  const swatch = (text, colour) => {
    const element = document.createElement("span");
    add(element, "span", undefined, {class: "swatch"}).style.background = colour;
    element.append(text);
    return element;
  };

  // Tenants, side by side if there are two runs.
  const tenantTable = (run) => {
    table(page, ["tenant", "arrival, us", "end, us", "cycles", "warp instructions", "IPC", "far-faults", "rounds"],
      run.table.map((row) => [row.tenant, microseconds(row.arrival_ns), microseconds(row.end_ns), number(row.cycles),
        number(row.instructions), number(row.ipc), number(row.faults), number(row.rounds)]),
      {"data-table": "tenants"});
    if (run.table.length === 0) add(page, "p", "The run has not finished: no results by tenant.", {class: "hint"});
  };
  // Kernels of each tenant, over their launches.
  const kernelTable = (run, label) => {
    if (run.kernel_table.length === 0) return;
    add(page, "h3", `Kernels${label}, in kernel time, longest first`);
    table(add(page, "div", undefined, {class: "wide"}),
      ["tenant", "kernel", "launches", "time, us", "cycles", "instructions", ...data.kernel_columns,
        "far-faults"],
      run.kernel_table.map((row) => [swatch(run.tenants[row.tenant], colourOf(row.tenant)), row.kernel,
        number(row.launches), microseconds(row.duration_ns), number(row.cycles), number(row.instructions),
        ...row.values, number(row.faults)]),
      {"data-table": "kernels"});
  };
  const comparison = (a, b) => {
    const rows = [];
    for (const left of a.table) {
      const right = b.table.find((row) => row.tenant === left.tenant);
      if (!right) continue;
      rows.push([left.tenant, number(left.ipc), number(right.ipc), left.ipc > 0 ? number(right.ipc / left.ipc) : "-",
        number(left.cycles), number(right.cycles), left.cycles > 0 ? number(right.cycles / left.cycles) : "-",
        number(left.faults), number(right.faults)]);
    }
    add(page, "h2", "Comparison");
    add(page, "p", `A is ${a.file}, B is ${b.file}.`);
    table(page, ["tenant", "IPC A", "IPC B", "B / A", "cycles A", "cycles B", "B / A", "far-faults A", "far-faults B"],
      rows, {"data-table": "comparison"});
  };

  // Timelines: a canvas with a row per tenant or SM.
  const canvas = (rows, height, pixels) => {
    const element = add(page, "canvas");
    element.width = pixels + 100;
    element.height = rows * height + 24;
    return element.getContext("2d");
  };
  const axis = (context, run, rows, height) => {
    context.fillStyle = "#444";
    context.font = "11px sans-serif";
    for (let part = 0; part <= 4; ++part) {
      context.textAlign = part === 4 ? "right" : "left";
      context.fillText(`${microseconds(run.end_ns * part / 4)} us`, 100 + run.pixels * part / 4, rows * height + 18);
    }
    context.textAlign = "left";
  };
  const kernels = (run) => {
    const lanes = run.tenants.map((_, tenant) =>
      1 + Math.max(0, ...run.kernels.filter((bar) => bar[0] === tenant).map((bar) => bar[1])));
    const before = lanes.map((_, tenant) => lanes.slice(0, tenant).reduce((sum, count) => sum + count, 0));
    const rows = lanes.reduce((sum, count) => sum + count, 0), height = 18;
    const context = canvas(rows, height, run.pixels);
    const scale = run.pixels / Math.max(run.end_ns, 1);
    context.font = "11px sans-serif";
    for (const [tenant, lane, name, begin, end] of run.kernels) {
      const left = 100 + begin * scale, width = Math.max((end - begin) * scale, 1);
      const top = (before[tenant] + lane) * height;
      context.fillStyle = colourOf(tenant);
      context.fillRect(left, top + 1, width, height - 2);
      if (context.measureText(name).width + 6 < width) {
        context.fillStyle = "white";
        context.fillText(name, left + 3, top + 13);
      }
    }
    context.fillStyle = "#222";
    run.tenants.forEach((name, tenant) => context.fillText(name, 0, before[tenant] * height + 13, 95));
    axis(context, run, rows, height);
  };
  const blocks = (run) => {
    const sms = run.blocks[0].length, height = sms > 40 ? 6 : 12;
    const most = Math.max(1, ...run.blocks.flat(2).map((part) => part[0]));
    const context = canvas(sms, height, run.pixels);
    run.blocks.forEach((byTenant, tenant) => byTenant.forEach((runs, sm) => {
      let left = 100;
      for (const [count, width] of runs) {
        if (count > 0) {
          const part = (height - 1) / run.blocks.length;
          context.globalAlpha = 0.25 + 0.75 * count / most;
          context.fillStyle = colourOf(tenant);
          context.fillRect(left, sm * height + tenant * part, width, part);
        }
        left += width;
      }
    }));
    context.globalAlpha = 1;
    context.fillStyle = "#222";
    context.font = "10px sans-serif";
    const step = height < 10 ? 8 : 1;
    for (let sm = 0; sm < sms; sm += step) context.fillText(`sm[${sm}]`, 0, sm * height + 9);
    axis(context, run, sms, height);
    add(page, "p", `The darker, the more blocks; at most ${most} of a tenant at once on an SM.`, {class: "hint"});
  };
  const timelines = (run, label) => {
    add(page, "h2", `Timeline${label}`);
    const legend = add(page, "p");
    run.tenants.forEach((name, tenant) => legend.append(swatch(name, colourOf(tenant)), " "));
    if (run.kernels.length > 0) {
      add(page, "h3", "Kernels");
      kernels(run);
    }
    add(page, "h3", "Thread blocks by SM");
    if (run.blocks) blocks(run);
    else add(page, "p", "Not recorded: simulation.record_blocks=true does.", {class: "hint"});
  };

  const delays = (run, label) => {
    if (run.delays.length === 0) return;
    add(page, "h2", `Who waited behind whom${label}, cycles`);
    for (const {counter, cycles} of run.delays) {
      const count = run.tenants.length, most = Math.max(1, ...cycles);
      add(page, "h3", counter);
      const rows = run.tenants.map((name, i) => [name, ...cycles.slice(i * count, (i + 1) * count).map(number)]);
      const element = table(page, ["waited / behind", ...run.tenants], rows, {class: "heat", "data-table": counter});
      cycles.forEach((value, i) => {
        const cell = element.rows[1 + Math.floor(i / count)].cells[1 + i % count];
        cell.style.background = `rgba(213, 94, 0, ${0.9 * value / most})`;
      });
    }
  };

  // Plots; zooming one zooms all.
  const graphs = [];
  const zoomAll = (window, from) => {
    for (const graph of graphs) if (graph !== from) graph.updateOptions({dateWindow: window});
  };
  const plot = ({name, title, unit, series, last, whole, rows}) => {
    add(page, "h3", `${title}, ${unit}`);
    // dygraphs joins points across null, and leaves a gap at NaN.
    const points = rows.map((row) => row.map((value) => value === "-" ? NaN : value));
    const shown = points.filter((row) => row.slice(1).some((value) => value !== null && !Number.isNaN(value)));
    if (shown.length > 0) {
      const element = add(page, "div", undefined, {class: "plot", "data-plot": name});
      graphs.push(new Dygraph(element, points, {
        labels: ["us", ...series],
        colors: series.map((_, index) => colourOf(index)),
        connectSeparatedPoints: data.runs.length > 1,
        includeZero: true,
        legend: "follow",
        ylabel: unit,
        xlabel: "simulated time, us",
        axes: {
          x: {valueFormatter: (us) => `${us} us`, axisLabelFormatter: (us) => short(us)},
          y: {valueFormatter: (value) => `${short(value)} ${unit}`, axisLabelFormatter: (value) => short(value),
            axisLabelWidth: 60},
        },
        zoomCallback(least, largest) {
          zoomAll(this.isZoomed("x") ? [least, largest] : null, this);
        },
      }));
    }
    table(page, ["series", "last epoch", "whole run"],
      series.map((label, i) => [swatch(label, colourOf(i)), String(last[i] ?? "-"), String(whole[i] ?? "-")]),
      {"data-series": name});
  };

  const named = (run) => `${run.scenario} on ${run.gpu}`;
  const names = [...new Set(data.runs.map(named))];
  document.getElementById("title").textContent = names.join(" and ");
  const subtitle = data.runs.map((run, i) => data.runs.length > 1 ? `${"AB"[i]}: ${run.file}` : run.file).join(", ");
  add(page, "p", subtitle, {id: "files"});
  const labels = data.runs.length > 1 ? [" of A", " of B"] : [""];
  if (data.runs.length > 1) {
    if (data.differences.length > 0) table(page, ["configured", "A", "B"], data.differences, {"data-table": "differences"});
    comparison(data.runs[0], data.runs[1]);
  }
  data.runs.forEach((run, i) => {
    add(page, "h2", `Tenants${labels[i]}`);
    add(page, "p", `${run.file}: ${microseconds(run.end_ns)} us simulated, ${number(run.epochs)} epochs` +
      (run.finished ? "." : ", not finished."));
    tenantTable(run);
    kernelTable(run, labels[i]);
    timelines(run, labels[i]);
  });
  add(page, "h2", "By epoch");
  add(page, "p", "Drag to zoom all plots, double-click to see all again. Long series show the least and the largest " +
    "value of each pixel.", {class: "hint"});
  data.plots.forEach(plot);
  data.runs.forEach((run, i) => delays(run, labels[i]));
  data.runs.forEach((run, i) => {
    const details = add(page, "details");
    add(details, "summary", `Scenario${labels[i]}`);
    add(details, "pre", run.config);
  });
})();
