package inspect

import (
	"strconv"
	"strings"
)

// classes are the classes of PCI functions: a base class at the beginning of a line, its subclasses
// after a tab, their programming interfaces after two.
//
// Source: PCI Code and ID Assignment Specification 1.11, "Class Codes"; the words are those that lspci shows.
const classes = `00 Unclassified device
	00 Non-VGA unclassified device
	01 VGA compatible unclassified device
01 Mass storage controller
	00 SCSI storage controller
	01 IDE interface
	02 Floppy disk controller
	04 RAID bus controller
	05 ATA controller
	06 SATA controller
		00 Vendor specific
		01 AHCI 1.0
		02 Serial Storage Bus
	07 Serial Attached SCSI controller
	08 Non-Volatile memory controller
		01 NVMHCI
		02 NVM Express
	09 Universal Flash Storage controller
	80 Mass storage controller
02 Network controller
	00 Ethernet controller
	01 Token ring network controller
	02 FDDI network controller
	03 ATM network controller
	04 ISDN controller
	07 Infiniband controller
	08 Fabric controller
	80 Network controller
03 Display controller
	00 VGA compatible controller
		00 VGA controller
		01 8514 controller
	01 XGA compatible controller
	02 3D controller
	80 Display controller
04 Multimedia controller
	00 Multimedia video controller
	01 Multimedia audio controller
	02 Computer telephony device
	03 Audio device
	80 Multimedia controller
05 Memory controller
	00 RAM memory
	01 FLASH memory
	02 CXL
	80 Memory controller
06 Bridge
	00 Host bridge
	01 ISA bridge
	02 EISA bridge
	04 PCI bridge
		00 Normal decode
		01 Subtractive decode
	05 PCMCIA bridge
	07 CardBus bridge
	09 Semi-transparent PCI-to-PCI bridge
	0a InfiniBand to PCI host bridge
	80 Bridge
07 Communication controller
	00 Serial controller
		00 8250
		01 16450
		02 16550
		03 16650
		04 16750
		05 16850
		06 16950
	01 Parallel controller
	02 Multiport serial controller
	03 Modem
	80 Communication controller
08 Generic system peripheral
	00 PIC
		00 8259
		10 IO-APIC
		20 IO(X)-APIC
	01 DMA controller
	02 Timer
		03 HPET
	03 RTC
	04 PCI Hot-plug controller
	05 SD Host controller
	06 IOMMU
	80 System peripheral
09 Input device controller
	00 Keyboard controller
	02 Mouse controller
	80 Input device controller
0a Docking station
	00 Generic Docking Station
0b Processor
	40 Co-processor
0c Serial bus controller
	00 FireWire (IEEE 1394)
		00 Generic
		10 OHCI
	03 USB controller
		00 UHCI
		10 OHCI
		20 EHCI
		30 XHCI
		40 USB4 Host Interface
		80 Unspecified
		fe USB Device
	04 Fibre Channel
	05 SMBus
	06 InfiniBand
	07 IPMI Interface
		00 SMIC
		01 KCS
		02 BT (Block Transfer)
	09 CANBUS
	80 Serial bus controller
0d Wireless controller
	11 Bluetooth
	80 Wireless controller
0e Intelligent controller
0f Satellite communications controller
10 Encryption controller
	00 Network and computing encryption device
	80 Encryption controller
11 Signal processing controller
	01 Performance counters
	80 Signal processing controller
12 Processing accelerators
	00 Processing accelerators
13 Non-Essential Instrumentation
40 Coprocessor
ff Unassigned class
`

// vendors are the makers of what PCs, servers and their emulations have; pci.ids has all.
//
// Source: the identifiers that the PCI-SIG has assigned (pcisig.com/membership/member-companies).
const vendors = `1000 Broadcom / LSI
1002 Advanced Micro Devices, Inc. [AMD/ATI]
1013 Cirrus Logic
1014 IBM
1022 Advanced Micro Devices, Inc. [AMD]
1025 Acer Incorporated [ALI]
1028 Dell
102b Matrox Electronics Systems Ltd.
1033 NEC Corporation
1039 Silicon Integrated Systems [SiS]
103c Hewlett-Packard Company
1043 ASUSTeK Computer Inc.
104c Texas Instruments
106b Apple Inc.
1077 QLogic Corp.
1095 Silicon Image, Inc.
10b5 PLX Technology, Inc.
10de NVIDIA Corporation
10df Emulex Corporation
10ec Realtek Semiconductor Co., Ltd.
10ee Xilinx Corporation
1102 Creative Labs
1106 VIA Technologies, Inc.
1179 Toshiba Corporation
1180 Ricoh Co Ltd
11ab Marvell Technology Group Ltd.
1217 O2 Micro, Inc.
126f Silicon Motion, Inc.
12d8 Pericom Semiconductor
1344 Micron Technology Inc
13f6 C-Media Electronics Inc
1414 Microsoft Corporation
1415 Oxford Semiconductor Ltd
1425 Chelsio Communications Inc
1458 Gigabyte Technology Co., Ltd
1462 Micro-Star International Co., Ltd. [MSI]
144d Samsung Electronics Co Ltd
14c3 MEDIATEK Corp.
14e4 Broadcom Inc. and subsidiaries
1590 Hewlett Packard Enterprise
15ad VMware
15b3 Mellanox Technologies
15b7 Sandisk Corp
15d9 Super Micro Computer Inc
168c Qualcomm Atheros
177d Cavium, Inc.
17aa Lenovo
17cb Qualcomm Technologies, Inc
1814 Ralink corp.
1849 ASRock Incorporation
1912 Renesas Technology Corp.
1924 Solarflare Communications
1969 Qualcomm Atheros
197b JMicron Technology Corp.
1987 Phison Electronics Corporation
19e5 Huawei Technologies Co., Ltd.
1a03 ASPEED Technology, Inc.
1ae0 Google, Inc.
1af4 Red Hat, Inc.
1b21 ASMedia Technology Inc.
1b36 Red Hat, Inc.
1b4b Marvell Technology Group Ltd.
1b6f Etron Technology, Inc.
1b73 Fresco Logic
1c5c SK hynix
1cc1 ADATA Technology Co., Ltd.
1d0f Amazon.com, Inc.
1d6a Aquantia Corp.
1e0f KIOXIA Corporation
2646 Kingston Technology Company, Inc.
5853 XenSource, Inc.
80ee InnoTek Systemberatung GmbH
8086 Intel Corporation
9005 Adaptec
9710 MosChip Semiconductor Technology Ltd.
c0a9 Micron/Crucial Technology
`

// classNames returns the names of a base class, of its subclass and of that one's interface, each ""
// if there is none.
func classNames(class uint16, iface uint8) (base, sub, prog string) {
	inBase, inSub := false, false
	for line := range strings.Lines(classes) {
		text := strings.TrimLeft(line, "\t")
		number, name, _ := strings.Cut(strings.TrimSpace(text), " ")
		n, _ := strconv.ParseUint(number, 16, 8)
		switch len(line) - len(text) {
		case 0:
			if inBase, inSub = n == uint64(class>>8), false; inBase {
				base = name
			}
		case 1:
			if inSub = inBase && n == uint64(class&0xff); inSub {
				sub = name
			}
		default:
			if inSub && n == uint64(iface) {
				prog = name
			}
		}
	}
	return base, sub, prog
}

// vendorName returns the name of a maker, "" if it is not in the table.
func vendorName(vendor uint16) string {
	for line := range strings.Lines(vendors) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, _ := strconv.ParseUint(number, 16, 16); uint16(n) == vendor {
			return name
		}
	}
	return ""
}
