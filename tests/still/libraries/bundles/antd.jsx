import { useState } from "react";
import { createRoot } from "react-dom/client";
import {
  App,
  Button,
  Collapse,
  DatePicker,
  Form,
  Input,
  Modal,
  Popover,
  Select,
  Switch,
  Table,
} from "antd";

const ROWS = Array.from({ length: 23 }, (_, at) => ({ key: at, name: `row ${at}`, sum: (at * 7) % 23 }));
const COLUMNS = [
  { title: "Name", dataIndex: "name" },
  { title: "Sum", dataIndex: "sum", sorter: (a, b) => a.sum - b.sum },
];

function Page() {
  const [open, setOpen] = useState(false);
  const { message } = App.useApp();
  return (
    <>
      <Popover content="A small note" onOpenChange={(shown) => say(`note.${shown}`)}>
        <Button id="note">Note</Button>
      </Popover>
      <Button id="open" onClick={() => setOpen(true)}>
        Open
      </Button>
      <Switch id="switch" onChange={(on) => say(`switch.${on}`)} />
      <Form
        onFinish={(values) => {
          say(`sent.${values.name}`);
          message.success("Saved", 1.2, () => say("message.gone"));
        }}
        onFinishFailed={() => say("refused")}
      >
        <Form.Item name="name" rules={[{ required: true, message: "It needs a name" }]}>
          <Input id="name" aria-label="name" />
        </Form.Item>
        <Button id="send" htmlType="submit">
          Send
        </Button>
      </Form>
      <Select
        id="size"
        style={{ width: 200 }}
        options={["small", "middle", "large"].map((value) => ({ value, label: value }))}
        onChange={(size) => say(`size.${size}`)}
      />
      <DatePicker id="day" onChange={(_, day) => say(`day.${day}`)} />
      <Table
        size="small"
        dataSource={ROWS}
        columns={COLUMNS}
        pagination={{ pageSize: 5 }}
        onChange={(page, _, sorter) => say(`table.${page.current}.${sorter.order}`)}
      />
      <Collapse
        items={[{ key: "1", label: "Fold", children: <p>It was folded.</p> }]}
        onChange={(keys) => say(`fold.${keys}`)}
      />
      <Modal
        title="A window"
        open={open}
        onOk={() => setOpen(false)}
        onCancel={() => setOpen(false)}
        afterOpenChange={(shown) => say(`window.${shown}`)}
      >
        <p>Its text.</p>
      </Modal>
    </>
  );
}

createRoot(document.getElementById("app")).render(
  <App>
    <Page />
  </App>,
);
